package com.acme;
public interface Sink { void write(String text); }
