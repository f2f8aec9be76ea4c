"""Static files from our own origin; those whose name holds a hash of their bytes are kept for ever.

`collectstatic` compresses them (gzip and brotli), and the middleware sends what the client takes.
"""

import re

from servestatic.middleware import ServeStaticMiddleware

# Vite's names, `assets/<name>-<eight characters of base64url>.<extension>`. Django's own hashes
# are known to the library.
_BUNDLED = re.compile(r"/static/app/assets/[^/]+-[\w-]{8}\.\w+$")


class StaticFilesMiddleware(ServeStaticMiddleware):
    def immutable_file_test(self, path: str, url: str) -> bool:
        """Whether the file at `url` can never change."""
        return bool(_BUNDLED.search(url)) or bool(super().immutable_file_test(path, url))
