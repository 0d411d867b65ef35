import { App, tidy } from "./app";
test("x", () => { new App(null!).run(); tidy(); });
