"""The list: what `make asvs` breaks."""

from tests.asvs.mutation import Mutation
from tests.asvs.mutations import accounts, data, requests, tokens

MUTATIONS: list[Mutation] = [
    *requests.MUTATIONS,
    *accounts.MUTATIONS,
    *tokens.MUTATIONS,
    *data.MUTATIONS,
]
