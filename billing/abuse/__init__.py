"""Abuse detection on the usage topic, by a consumer group of its own (`manage.py detect_abuse`).

scoring.py   pure: how much an hour looks like abuse
counting.py  events into hourly counts, each once
detector.py  a batch: count, score whom it touched, flag
throttle.py  slowing a flagged subject down, in a request's path
"""
