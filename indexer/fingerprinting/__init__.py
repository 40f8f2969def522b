"""fingerprinting"""
