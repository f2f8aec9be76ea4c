"""What the configurations of most decoders have in common, in config.json and in GGUF's metadata.

The file of an architecture calls these and changes what differs.
"""
