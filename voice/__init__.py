"""Speech to text and text to speech: a server of its own, with models that packages carry.

    audio.py decoder.py resample.py    bytes that somebody sent, as samples; the decoder is a
                                       process of its own with little memory and time
    activity.py features.py            where somebody speaks; what Whisper hears
    whisper.py transcriber.py          thirty seconds of it as text; a whole recording
    sentences.py phonemes.py speaker.py encoders.py
                                       a text's sentences, their sounds, their samples, their bytes
    weights.py                         which files, of which packages, with which hashes
    models.py server.py __main__.py    loaded when asked for; over HTTP; the command line

It imports nothing of Django or of the folders beside it. The gateway reaches it over HTTP, with the
key that engines have (docs/operations.md, "Voice").
"""
