"""Who someone is: users, organizations, memberships and roles, plans, projects, API keys."""
