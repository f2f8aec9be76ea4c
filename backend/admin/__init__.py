"""The staff's site, /admin, as a whole. Each app registers its own pages in its `admin`.

navigation.py   the side bar
dashboard.py    the numbers on the first page
"""
