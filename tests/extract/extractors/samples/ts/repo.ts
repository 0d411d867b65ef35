/** Keeps things. */
export class Repo<T> {
  private items: T[] = [];
  static open(): Repo<string> { return new Repo<string>(); }
  get size(): number { return this.items.length; }
  save(item: T): void { this.items.push(item); this.log(`x ${this.size}`); }
  private log = (text: string) => { write(text); };
}
export interface Sink { write(text: string): void; }
export type Options = { sink: Sink };
export enum Mode { On, Off }
export const LIMIT = 10;
function write(text: string): void {}
export default function make(): Repo<string> { return Repo.open(); }
