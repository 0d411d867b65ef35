import util as u


class Broken(Exception):
    def explain(self):
        return tidy(self.args)  #> helpers::tidy


def tidy(rows):
    return u.slugify(rows)  #> util::slugify


def fail():
    raise Broken("x")  #> helpers::Broken


def caught():
    try:
        fail()  #> helpers::fail
    except Broken as error:  #> helpers::Broken
        error.explain()  #> helpers::Broken.explain
    assert isinstance(fail, Broken)  #> helpers::fail ; helpers::Broken


def in_default(function=tidy):  #> helpers::tidy
    return function([])  #> helpers::tidy


def in_fstring():
    return f"{tidy([])!r:>{len(fail())}}"  #> helpers::tidy ; helpers::fail


def starred():
    return [*tidy([]), *map(fail, [])]  #> helpers::tidy ; helpers::fail


def conditional(flag):
    return (tidy if flag else fail)()  #> helpers::tidy ; helpers::fail


async def asynchronous():
    await later()  #> helpers::later
    async with later() as x:  #> helpers::later
        x.explain_nothing()  #> -


async def later():
    return None
