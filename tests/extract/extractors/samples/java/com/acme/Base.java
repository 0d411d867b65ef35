package com.acme;

abstract class Base { protected void inherited() {} }

class Other { Other(int n) {} com.acme.util.Helper run() { return null; } }
