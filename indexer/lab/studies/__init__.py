"""The signature study of Roegiest & Lee (SIGIR 2019), repeated on any documents."""
