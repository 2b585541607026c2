/** The service in memory with every plugin that contributes a kind, and calls of the apply API. */
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import { ThreadYamlParser } from '../../../adapters/node/yaml/thread-yaml-parser.js';
import apply from '../../../plugins/apply/plugin.js';
import bugs from '../../../plugins/bugs/plugin.js';
import dispatch from '../../../plugins/dispatch/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import notifications from '../../../plugins/notifications/plugin.js';
import statuspages from '../../../plugins/statuspages/plugin.js';
import watchdog from '../../../plugins/watchdog/plugin.js';
import webhooks from '../../../plugins/webhooks/plugin.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';

export const APPLY_PATH = '/api/admin/v1/apply';

const PLUGINS = [apply, bugs, errorstream, webhooks, watchdog, notifications, statuspages, dispatch];

export const SCOPES = [
  'system:manage',
  'projects:manage',
  'watchdog:manage',
  'webhooks:manage',
  'notifications:manage',
];

export interface Action {
  action: string;
  kind: string;
  name: string;
  changes: { field: string; from: unknown; to: unknown }[];
}

export class ApplyFixture {
  private constructor(
    readonly http: HttpFixture,
    readonly token: string,
  ) {}

  static async open(store?: DocumentStore): Promise<ApplyFixture> {
    const resolve = async (): Promise<{ address: string; family: number }[]> => [{ address: '10.0.0.1', family: 4 }];
    const http = await HttpFixture.open({
      plugins: PLUGINS,
      parts: { outbound: new NodeOutbound({ resolve }), yaml: new ThreadYamlParser() },
      ...(store && { store }),
    });
    return new ApplyFixture(http, await http.token([...SCOPES, 'bugtracker:manage']));
  }

  /** Posts a document; texts are YAML. */
  async apply(document: string | object, query = '', bearer = this.token): Promise<Answer> {
    const isText = typeof document === 'string';
    const response = await this.http.server.inject({
      method: 'POST',
      url: `${APPLY_PATH}${query}`,
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': isText ? 'application/yaml' : 'application/json',
      },
      payload: isText ? document : JSON.stringify(document),
    });
    const { statusCode, headers, payload } = response;
    return {
      status: statusCode,
      headers: headers as Answer['headers'],
      text: payload,
      json: JSON.parse(payload) as Answer['json'],
    };
  }

  async get(path: string, bearer: string | null = this.token): Promise<Answer> {
    return this.http.api('GET', path, bearer);
  }

  stop(): Promise<void> {
    return this.http.stop();
  }
}

export const listActions = (answer: Answer): string[] =>
  (answer.json['plan'] as Action[]).map(({ action, kind, name }) => `${action} ${kind} ${name}`);
