"""originals"""
