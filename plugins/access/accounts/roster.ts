/**
 * The roster of active administrators: every change of an account's rights goes through this
 * document, so that one active administrator remains under concurrency in any number of processes
 * (contract 10, accounts). The order of writes is:
 *
 * 1. compare-and-set on the roster: record the change under `changing`, and remove an administrator
 * who loses the right from `active`; without another one the change is rejected;
 *
 * 2. the account, conditional on its `rights_rev`;
 *
 * 3. compare-and-set on the roster: remove the record, and add the account to `active` if it is an
 * active administrator.
 *
 * `active` never lists too many; a crash can only omit one until `reconcile` runs. A record older
 * than a minute is taken over after raising `rights_rev`, which makes step 2 of a stalled change
 * fail.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
} from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { conflict, notFound, ServiceError } from '../../../kernel/errors.js';
import { StoreConflict, type Update } from '../../../ports/store/index.js';
import { isActiveAdmin, type Account } from '../model/account.js';

const createLastAdminError = (): ServiceError =>
  conflict('This is the last active administrator. Make another account an administrator first.', {
    extra: { last_admin: true },
  });

export const isLastAdminError = (error: unknown): boolean =>
  error instanceof ServiceError && error.extra?.['last_admin'] === true;

export interface RosterDoc extends Doc {
  rev: number;
  active: string[];
  changing: { account: string; change: string; at: string }[];
}

/** Null only refreshes the roster. */
export type RightsChange = { update: Update } | { remove: true } | null;

const ROSTER_ID = 'admins';
const STALE_AFTER_MS = 60_000;
const MAX_ATTEMPTS = 200;

@injectable()
export class AdminRoster {
  constructor(
    @inject(collection<RosterDoc>('roster')) private readonly rosters: Collection<RosterDoc>,
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {}

  /**
   * @param leaves whether it stops being an active administrator
   * @returns `after` is null when removed
   * @throws ServiceError not_found; conflict for the last active administrator or a concurrent
   *   change
   */
  async changeRights(
    id: string,
    leaves: boolean,
    change: RightsChange,
  ): Promise<{ before: Account; after: Account | null }> {
    const { before, mark } = await this.#beginChange(id, leaves);
    try {
      return { before, after: await this.#applyChange(before, change) };
    } finally {
      await this.#endChange(id, mark);
    }
  }

  async reconcile(): Promise<void> {
    const roster = await this.#read();
    const stale = roster.changing.filter((note) => this.#isStale(note.at)).map((note) => note.account);
    const busy = new Set(roster.changing.map((note) => note.account));
    const missing = (await this.#listActiveAdmins()).filter((id) => !roster.active.includes(id) && !busy.has(id));
    for (const id of new Set([...stale, ...missing])) {
      if ((await this.accounts.get(id)) === null) await this.#removeEntry(id);
      else await this.refreshEntry(id);
    }
  }

  async refreshEntry(id: string): Promise<void> {
    try {
      await this.changeRights(id, false, null);
    } catch (error) {
      // Another process does the same, or the account is gone.
      if (!(error instanceof ServiceError)) throw error;
    }
  }

  async #beginChange(id: string, leaves: boolean): Promise<{ before: Account; mark: string }> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const roster = await this.#read();
      const note = roster.changing.find((entry) => entry.account === id);
      if (note !== undefined) {
        if (!this.#isStale(note.at)) throw conflict('Another change of this account is in progress. Try again.');
        await this.accounts.change({ id }, { inc: { rights_rev: 1 } });
      }
      const before = await this.accounts.get(id);
      if (before === null) throw notFound(`account ${id}`);
      const others = roster.active.filter((other) => other !== id);
      if (leaves && isActiveAdmin(before) && others.length === 0) {
        throw createLastAdminError();
      }
      const mark = this.ids.uuid();
      const changing = roster.changing.filter((entry) => entry.account !== id);
      changing.push({ account: id, change: mark, at: this.clock.iso() });
      if (await this.#write(roster, leaves ? others : roster.active, changing)) return { before, mark };
    }
    throw conflict('Too many concurrent account changes. Try again.');
  }

  async #applyChange(before: Account, change: RightsChange): Promise<Account | null> {
    if (change === null) return before;
    const where = { id: before.id, rights_rev: before.rights_rev };
    if ('remove' in change) {
      if ((await this.accounts.remove(where)) === 0)
        throw conflict('The account was changed by someone else. Try again.');
      return null;
    }
    const inc = { ...change.update.inc, rights_rev: 1 };
    const changed = await this.accounts.change(where, { ...change.update, inc });
    if (changed === null) throw conflict('The account was changed by someone else. Try again.');
    return changed.doc;
  }

  async #endChange(id: string, mark: string): Promise<void> {
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const roster = await this.#read();
      if (!roster.changing.some((note) => note.change === mark)) return;
      const account = await this.accounts.get(id);
      const active = roster.active.filter((other) => other !== id);
      if (account !== null && isActiveAdmin(account)) active.push(id);
      const changing = roster.changing.filter((note) => note.change !== mark);
      if (await this.#write(roster, active, changing)) return;
    }
    throw conflict('Too many concurrent account changes. Try again.');
  }

  async #removeEntry(id: string): Promise<void> {
    const roster = await this.#read();
    const rest = (list: string[]): string[] => list.filter((other) => other !== id);
    await this.#write(
      roster,
      rest(roster.active),
      roster.changing.filter((note) => note.account !== id),
    );
  }

  async #write(roster: RosterDoc, active: string[], changing: RosterDoc['changing']): Promise<boolean> {
    const changed = await this.rosters.change(
      { id: ROSTER_ID, rev: roster.rev },
      { set: { active, changing }, inc: { rev: 1 } },
    );
    return changed !== null;
  }

  async #read(): Promise<RosterDoc> {
    const roster = await this.rosters.get(ROSTER_ID);
    if (roster !== null) return roster;
    const first: RosterDoc = { id: ROSTER_ID, rev: 0, active: await this.#listActiveAdmins(), changing: [] };
    try {
      await this.rosters.insert(first);
      return first;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      return this.#read();
    }
  }

  async #listActiveAdmins(): Promise<string[]> {
    const page = await this.accounts.find({ filter: { role: 'admin', disabled: false }, limit: 1000 });
    return page.items.map((account) => account.id);
  }

  #isStale(at: string): boolean {
    return hasElapsed(at, STALE_AFTER_MS, this.clock.now());
  }
}
