"""The staff's site, /admin, as a whole. Each app registers its own pages in its `admin`.

base.py         what read-only pages have in common (Django-admin only; any app may import it)
navigation.py   the side bar
dashboard.py    the numbers on the first page
"""
