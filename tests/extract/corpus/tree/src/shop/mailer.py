"""Names that occur elsewhere too, and star imports."""

import logging
from email.message import *
from shop.formatting import *
from .plugins.base import Plugin

logger = logging.getLogger(__name__)  #> ext:logging:getLogger


class Queue:
    def push(self, message):
        logger.info("pushed")  #> ext:logging:getLogger.info

    def save(self):
        return self.push(1)  #> mailer::Queue.push


class Mailer(Plugin):  #> base::Plugin
    queue: Queue = Queue()  #> mailer::Queue

    def send(self, order):
        self.queue.push(order)  #> mailer::Queue.push
        self.activate()  #> mailer::Mailer.activate
        return money(order)  #> formatting::money

    def activate(self):
        super().activate()  #> base::Plugin.activate
        self.configure(mode=1)  #> base::Plugin.configure
        return EmailMessage()  #> ext:email.message:EmailMessage

    def save(self):
        return self.queue.save()  #> mailer::Queue.save


def logger_shadow(logger: Queue):
    return logger.push(1)  #> mailer::Queue.push


def default_mailer():
    mailer = None
    if mailer is None:
        mailer = Mailer()  #> mailer::Mailer
    mailer.send(1)  #> mailer::Mailer.send
    return mailer
