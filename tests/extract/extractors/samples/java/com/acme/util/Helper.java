package com.acme.util;
public class Helper { public void help() {} public static Helper make() { return new Helper(); } enum Mode { ON, OFF } }
