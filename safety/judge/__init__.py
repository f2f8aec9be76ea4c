"""From scores to a decision.

- `policy`        what is done about each category from which score; the presets
- `pre`           the prompt check; `timeout` bounds it, `guard` settles the uncertain band
- `prompt`        whether the prompt of an answer was itself uncertain
- `review_pass`   a whole answer again, for policies that have reviews
- `images`        nudity in images
- `moderation`    the result object of `/v1/moderations`
- `spotlight`     untrusted content marked as data
"""
