"""Everything on one machine: Postgres and Valkey from their wheels, and the supervisor behind `make up`."""
