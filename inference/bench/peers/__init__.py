"""Other programs that run the same file, each measured in a process of its own.

    cases.py                     what every program is asked, and what it answers
    transformers_static.py       `generate` on equal prompts, float32
    transformers_continuous.py   its continuous batching, float32
    llama_cpp.py                 llama.cpp's own batches, through llama-cpp-python
    openvino_genai.py            OpenVINO GenAI's continuous batching
    vllm_cpu.py                  vLLM's build for processors, from bf16_folder.py's folder
    __main__.py                  runs one of them: `python -m inference.bench.peers NAME ...`

They are called directly, without HTTP, so what they show is their best.
"""
