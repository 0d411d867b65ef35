import make, { Repo as Store, LIMIT, type Sink } from "./repo";
import * as repo from "./repo";
import { readFile } from "fs/promises";
export { Mode as Kind } from "./repo";
export * from "./util";

abstract class Base { start() { this.run(); } abstract run(): void; }

@Injectable()
export class App extends Base implements Sink {
  constructor(private store: Store<string>) { super(); }
  @Get("/users/:id") run() { this.store.save("a"); make().save("b"); }
  write(text: string) { super.start(); repo.Repo.open(); readFile("x"); }
}
export const View = ({ app }: { app: App }) => <Panel on={handle} limit={LIMIT} />;
function Panel() { return null; }
function handle(event: Event) { const s = new Store<string>(); s.save("x"); for (const one of [1]) one.go(); }
router.get("/items", handle);
