/**
 * The service in memory with the forges' plugin, its deliveries and signatures as the forges make
 * them.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import bugs from '../../../plugins/bugs/plugin.js';
import forges from '../../../plugins/forges/plugin.js';
import type { Forge } from '../../../plugins/forges/verification.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';

const FIXTURES = new URL('../../../../test/fixtures/forges/', import.meta.url);
export const delivery = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`${name}.json`, FIXTURES)), 'utf8');

/** The delivery with some members changed, wherever they are. */
export const changed = (name: string, change: Record<string, unknown>): string =>
  JSON.stringify(JSON.parse(delivery(name)), (key, value: unknown) => (key in change ? change[key] : value), 2);

const hex = (secret: string, body: string): string => createHmac('sha256', secret).update(body).digest('hex');

/** Headers as the forge sends them. */
export function signed(forge: Forge, event: string, body: string, secret: string): Record<string, string> {
  const id = 'f05835c0-b2b6-11f0-8de9-0242ac120002';
  if (forge === 'github')
    return { 'x-github-event': event, 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${hex(secret, body)}` };
  if (forge === 'gitea')
    return {
      'x-gitea-event': event,
      'x-gitea-delivery': id,
      'x-gitea-signature': hex(secret, body),
      'x-github-event': event,
    };
  return { 'x-gitlab-event': event, 'x-gitlab-event-uuid': id, 'x-gitlab-token': secret };
}

export interface Entry {
  action: string;
  actor: string;
  data: Record<string, unknown>;
  untrusted_fields: string[];
}

export interface Detail {
  item: Record<string, unknown> & { status: string };
  comments: { body: string; author: string }[];
  activity: Entry[];
  pull_request: Record<string, unknown> | null;
}

export class ForgesFixture {
  secret = '';
  manage = '';
  private constructor(readonly http: HttpFixture) {}

  /** A project `shop` with the items shop-1, shop-2 and shop-3, and its secret. */
  static async open(store?: DocumentStore): Promise<ForgesFixture> {
    const http = await HttpFixture.open({ plugins: [bugs, forges], ...(store && { store }) });
    const fixture = new ForgesFixture(http);
    const admin = await http.token(['projects:manage', 'bugtracker:manage']);
    fixture.manage = await http.token(['bugtracker:report', 'bugtracker:manage']);
    await http.api('POST', '/api/projects/v1/projects', admin, { slug: 'shop' });
    for (const title of ['The total is wrong', 'The cart is empty', 'The page is slow'])
      await http.api('POST', '/api/bugtracker/v1/report', fixture.manage, { project: 'shop', title });
    const made = await http.api('POST', '/api/projects/v1/projects/shop/forge-secret', admin);
    fixture.secret = made.json['forge_secret'] as string;
    return fixture;
  }

  async send(
    forge: Forge,
    event: string,
    body: string,
    { headers, project = 'shop' }: { headers?: Record<string, string>; project?: string } = {},
  ): Promise<Answer> {
    const {
      statusCode,
      headers: answered,
      payload,
    } = await this.http.server.inject({
      method: 'POST',
      url: `/api/bugtracker/v1/forges/${forge}/${project}`,
      headers: { 'content-type': 'application/json', ...(headers ?? signed(forge, event, body, this.secret)) },
      payload: body,
    });
    return { status: statusCode, headers: answered as Answer['headers'], text: payload, json: JSON.parse(payload) };
  }

  async detail(ref: string): Promise<Detail> {
    return (await this.http.api('GET', `/api/bugtracker/v1/bugs/${ref}`, this.manage)).json as unknown as Detail;
  }

  call(method: 'POST' | 'PATCH', path: string, body: object): Promise<Answer> {
    return this.http.api(method, `/api/bugtracker/v1/bugs/${path}`, this.manage, body);
  }

  stop(): Promise<void> {
    return this.http.stop();
  }
}
