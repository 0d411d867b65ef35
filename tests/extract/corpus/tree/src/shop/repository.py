"""Context managers, generators, generics, class methods as constructors."""

from contextlib import contextmanager
from typing import Generic, Iterator, TypeVar

import sqlite3

T = TypeVar("T")  #> ext:typing:TypeVar


class Session:
    def begin(self):
        return self

    def end(self):
        self.begin().end()  #> repository::Session.begin

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()  #> repository::Session.end


class Repository(Generic[T]):  #> ext:typing:Generic
    def __init__(self, path: str = ":memory:") -> None:
        self.session = Session()  #> repository::Session
        self._connection = sqlite3.connect(path)  #> ext:sqlite3:connect

    @classmethod
    def memory(cls) -> "Repository":
        return cls(":memory:")  #> repository::Repository

    def save(self, thing: T) -> None:
        with self.session as session:
            session.begin()  #> repository::Session.begin
        with self._transaction():  #> repository::Repository._transaction
            self._connection.execute("x")  #> ext:sqlite3:connect.execute

    def delete(self, thing):
        self._write("delete", thing)  #> repository::Repository._write

    def _write(self, how, thing):
        method = getattr(self, how)
        return method(thing)  #> -

    @contextmanager  #> ext:contextlib:contextmanager
    def _transaction(self) -> Iterator[Session]:
        yield self.session

    def in_transaction(self):
        with self._transaction() as session:  #> repository::Repository._transaction
            session.end()  #> repository::Session.end

    def all(self) -> Iterator[Session]:
        yield self.session

    def each(self):
        for session in self.all():  #> repository::Repository.all
            session.begin()  #> repository::Session.begin


def connect():
    return Session()  #> repository::Session


def memory_session():
    return Repository.memory().session  #> repository::Repository.memory


def open_memory():
    repository = Repository.memory()  #> repository::Repository.memory
    repository.save(1)  #> repository::Repository.save
    repository.session.end()  #> repository::Session.end
    memory_session().begin()  #> repository::memory_session ; repository::Session.begin
    return repository.in_transaction()  #> repository::Repository.in_transaction
