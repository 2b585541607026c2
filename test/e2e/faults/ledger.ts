/** What a service under load was asked for, and what it acknowledged. */

export interface Held {
  agent: string;
  token: string;
}

export class Ledger {
  /** `client_ref` → id of the acknowledged bug report. */
  readonly refs = new Map<string, string>();
  /** Item → acknowledged comments. */
  readonly comments = new Map<string, string[]>();
  readonly #claims = new Map<string, Held>();
  readonly #resolutions = new Map<string, 'asked' | 'acknowledged'>();
  readonly #asked = new Map<string, number>();
  readonly #counted = new Map<string, number>();
  readonly #highest = new Map<string, number>();
  readonly #hits = new Set<string>();

  askError(group: string): void {
    this.#asked.set(group, this.asked(group) + 1);
  }

  /** @throws when another occurrence of the group was answered with the same count */
  errorCounted(group: string, hitCount: number): void {
    const key = `${group} ${hitCount}`;
    if (this.#hits.has(key)) throw new Error(`two occurrences of ${group} were answered with hit_count ${hitCount}`);
    this.#hits.add(key);
    this.#highest.set(group, Math.max(hitCount, this.highest(group)));
    this.#counted.set(group, this.counted(group) + 1);
  }

  reported(ref: string, id: string): void {
    this.refs.set(ref, id);
  }

  commented(id: string, text: string): void {
    this.comments.set(id, [...(this.comments.get(id) ?? []), text]);
  }

  /** @throws when the item was handed out before */
  claimed(id: string, held: Held): void {
    const before = this.#claims.get(id);
    if (before !== undefined) throw new Error(`${id} was handed out to ${before.agent} and to ${held.agent}`);
    this.#claims.set(id, held);
  }

  askResolve(id: string): void {
    this.#resolutions.set(id, 'asked');
  }

  resolved(id: string): void {
    this.#resolutions.set(id, 'acknowledged');
  }

  /** A claim of these agents that nobody tried to resolve yet. */
  openClaim(agents: string): [id: string, held: Held] | null {
    return this.claimsOf(agents).find(([id]) => this.resolution(id) === null) ?? null;
  }

  claimsOf(agents: string): [id: string, held: Held][] {
    return [...this.#claims].filter(([, held]) => held.agent.startsWith(agents));
  }

  resolution(id: string): 'asked' | 'acknowledged' | null {
    return this.#resolutions.get(id) ?? null;
  }

  asked(group: string): number {
    return this.#asked.get(group) ?? 0;
  }

  counted(group: string): number {
    return this.#counted.get(group) ?? 0;
  }

  /** The greatest count that an occurrence was answered with. */
  highest(group: string): number {
    return this.#highest.get(group) ?? 0;
  }

  /** Groups of which an occurrence was sent. */
  get sentGroups(): string[] {
    return [...this.#asked.keys()];
  }

  /** Groups of which an occurrence was acknowledged. */
  get acknowledgedGroups(): string[] {
    return [...this.#counted.keys()];
  }
}
