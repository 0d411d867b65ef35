package com.acme;
class AppTest { @Test void writes() { App app = new App(null); app.write("x"); } }
