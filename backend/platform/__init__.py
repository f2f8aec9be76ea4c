"""What all apps use, once each; imports no other app.

errors.py   every error that a client may see, in OpenAI's shape
"""
