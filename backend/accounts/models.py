"""Tables of `accounts`, which Django finds here.

core_models.py      users, organizations, memberships, projects, keys, plans, mails
team_models.py      who is invited, who joins by their address, who and what is in a project
operator_models.py  what operators decide: suspensions, access to models, terms, announcements
rights_models.py    what becomes of data: policies, legal holds, training opt-outs
"""

from backend.accounts.core_models import (
    APIKey,
    Mail,
    MailState,
    Membership,
    Organization,
    PendingAddress,
    PendingSignUp,
    Plan,
    Project,
    Role,
    User,
)
from backend.accounts.operator_models import (
    Announcement,
    AnnouncementDismissal,
    ModelAccess,
    SignUpPolicy,
    Suspension,
    TermsAcceptance,
    TermsVersion,
)
from backend.accounts.rights_models import AnswerCache, DataPolicy, LegalHold, TrainingOptOut
from backend.accounts.team_models import (
    Invitation,
    JoinRequest,
    OrganizationDomain,
    ProjectMember,
    ProjectRateLimit,
    ServiceAccount,
)

__all__ = [
    "APIKey",
    "Announcement",
    "AnnouncementDismissal",
    "AnswerCache",
    "DataPolicy",
    "Invitation",
    "JoinRequest",
    "LegalHold",
    "Mail",
    "MailState",
    "Membership",
    "ModelAccess",
    "Organization",
    "OrganizationDomain",
    "PendingAddress",
    "PendingSignUp",
    "Plan",
    "Project",
    "ProjectMember",
    "ProjectRateLimit",
    "Role",
    "ServiceAccount",
    "SignUpPolicy",
    "Suspension",
    "TermsAcceptance",
    "TermsVersion",
    "TrainingOptOut",
    "User",
]
