"""Who someone is: users, organizations, memberships and roles, plans, projects, API keys.

models.py          all tables, from core_models.py and the other *_models.py
principal.py       the authenticated caller, which every service and selector is scoped by
scopes.py          what an API key may be restricted to
authentication.py  an API key or a session becomes a Principal (async; key_cache.py caches it)
services.py        writes: users, API keys; members.py: who belongs; roles.py: who may what
invitations.py     links that make members; domains.py: who joins by their address (dns_txt.py)
projects.py        writes; project_members.py, service_accounts.py, project_access.py: who is in
team_selectors.py  reads, as project_selectors.py; paging.py
sign_up.py         an account from a mailed link; addresses.py, passwords.py: their changes
second_factors.py  authenticator apps and recovery codes; passkeys.py; sessions.py: devices
deletion.py        the end of an account
mail.py            mails, queued and sent again, or in the local outbox
selectors.py       reads
tasks.py           Celery: writes down when keys were last used
defaults.py        the plans and the staff groups of the admin with their permissions
"""
