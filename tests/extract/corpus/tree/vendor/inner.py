"""A copy of something, with names that occur elsewhere."""


class Repository:
    def save(self, thing):
        return self.delete(thing)  #> inner::Repository.delete

    def delete(self, thing):
        return thing


def money(amount):
    return Repository().save(amount)  #> inner::Repository ; inner::Repository.save


def plain(text):
    return money(text)  #> inner::money


class Session:
    def __init__(self, repository: Repository):
        self.repository = repository
        self.own = self

    def begin(self):
        self.repository.save(1)  #> inner::Repository.save
        return self.own.begin_again()  #> inner::Session.begin_again

    def begin_again(self):
        session = Session(None)  #> inner::Session
        return session.repository.delete(self)  #> inner::Repository.delete
