"""Ask the web: a ``FetchJob`` goes in, a ``FetchResult`` comes out, never an exception.

In: jobs that politeness has released, each with the address to connect to.
Out: one result per job: outcome, status, headers and raw body of the final response.
Remembers: open connections, and nothing about hosts or URLs.
Invariant: jobs submitted = results returned + transfers running + jobs deferred for a descriptor.
Process: the shard.

Redirections are not followed and bodies are not decoded here: the first are new links, the second
is the parsers' work.
"""
