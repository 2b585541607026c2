/**
 * The bug tracker and the error stream of a real service, as their clients see them: projects,
 * tokens and calls.
 */
import { expect } from 'chai';
import type { Item } from '../../ports/domain/bugs.js';
import { TestService } from '../support/service.js';
import { ask, type Ask, type Wire } from './wire.js';

export const BASE = '/api/bugtracker/v1';
export const INTAKE = '/api/errors/v1/report';
const PROJECTS = '/api/projects/v1/projects';

const SCOPES = {
  reporter: 'bugtracker:report',
  stranger: 'bugtracker:report',
  reader: 'bugtracker:read',
  manager: 'bugtracker:manage',
  all: 'bugtracker:report,bugtracker:read,bugtracker:manage',
  bound: 'bugtracker:report,bugtracker:read,bugtracker:manage',
} as const;

/** One token per kind of caller; `bound` belongs to alpha, `key` is alpha's public intake key. */
export type Who = keyof typeof SCOPES | 'key' | 'nobody';

export interface Lease {
  claim_token: string;
  expires_at: string;
  lease_seconds: number;
}

/** Limits are another suite's question. */
const OFF = Object.fromEntries(
  ['INTAKE_PER_MINUTE', 'API_PER_MINUTE', 'AUTH_FAILURES_PER_MINUTE'].map((key) => [`SVC_LIMITS__${key}`, '0']),
);

export class Tracker {
  #made = 0;
  private constructor(
    readonly service: TestService,
    private readonly tokens: Record<string, string>,
  ) {}

  static async started(): Promise<Tracker> {
    const service = await TestService.createInProcess(OFF);
    const master = await service.createToken(`${SCOPES.all},projects:manage`);
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await ask(service, 'POST', path, { token: master, body });
      expect(answer.status, answer.text).to.equal(201);
      return answer.json;
    };
    for (const slug of ['alpha', 'beta']) await post(PROJECTS, { slug });
    const { key } = await post(`${PROJECTS}/alpha/intake-keys`, {});
    const tokens: Record<string, string> = { key: String(key) };
    for (const [who, scopes] of Object.entries(SCOPES)) {
      const project = who === 'bound' ? 'alpha' : null;
      const made = await post('/api/tokens/v1/provision', { name: who, scopes: scopes.split(','), project });
      tokens[who] = String(made['token']);
    }
    return new Tracker(service, tokens);
  }

  dispose(): Promise<void> {
    return this.service.dispose();
  }

  /** @param path from `/report` on, or a whole one that begins with `/api` */
  call(who: Who, method: string, path: string, body?: unknown, given: Ask = {}): Promise<Wire> {
    const url = path.startsWith('/api') ? path : BASE + path;
    const token = who === 'nobody' ? null : (this.tokens[who] as string);
    return ask(this.service, method, url, { token, ...(body === undefined ? {} : { body }), ...given });
  }

  /** A word that no message had before, without a digit: grouping masks numbers. */
  word(): string {
    return `w${String(++this.#made).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}z`;
  }

  /** A new item. */
  async item(fields: object = {}): Promise<Item> {
    const answer = await this.call('all', 'POST', '/report', {
      project: 'alpha',
      title: `It ${this.word()}`,
      ...fields,
    });
    expect(answer.status, answer.text).to.equal(201);
    return answer.json['item'] as Item;
  }

  async shown(id: string): Promise<Item> {
    return (await this.call('reader', 'GET', `/bugs/${id}`)).json['item'] as Item;
  }

  patch(id: string, body: object, headers: Record<string, string> = {}): Promise<Wire> {
    return this.call('manager', 'PATCH', `/bugs/${id}`, body, { headers });
  }

  claim(id: string, body: object = {}, who: Who = 'manager'): Promise<Wire> {
    return this.call(who, 'POST', `/bugs/${id}/claim`, body);
  }

  /** An item in a status, with its claim token where it has one. */
  async itemIn(status: string, target: string): Promise<{ id: string; claim_token?: string }> {
    const { id } = await this.item();
    if (status === 'in_progress') return { id, claim_token: leaseOf(await this.claim(id)).claim_token };
    if (status !== 'open') {
      const link = status === 'duplicate' ? { duplicate_of: target } : {};
      expect((await this.patch(id, { status, reason: 'as agreed', ...link })).status).to.equal(200);
    }
    return { id };
  }

  /** A report for the error intake that meets no other, but for `fields`. */
  error(fields: object = {}): Record<string, unknown> {
    const exception_class = `Shop.${this.word()}`;
    return { project: 'alpha', error_level: 'error', error_message: 'It broke', exception_class, ...fields };
  }

  throws(body: unknown, who: Who = 'reporter', given: Ask = {}): Promise<Wire> {
    return this.call(who, 'POST', INTAKE, body, given);
  }
}

export const itemOf = (answer: Wire): Item => answer.json['item'] as Item;
export const leaseOf = (answer: Wire): Lease => answer.json['lease'] as Lease;
export const itemsOf = (answer: Wire): Item[] => answer.json['items'] as Item[];
export const fieldsOf = (answer: Wire): Record<string, string> =>
  (answer.json['error'] as { fields?: Record<string, string> }).fields ?? {};
