"""How an organization's people come in: sign-in through its identity provider, its directory,
its networks.

models.py has the tables. connections.py: the identity provider, as owners set it. oidc.py and
saml.py ask it who somebody is; identities.py turns the answer into an account. scim/ is what the
provider's directory calls. gate.py: what a session or key needs beside being right (single sign-on,
an allowed address). The API layer has the routes and the session.
"""
