import type { CommandSpec } from '../../../kernel/contract/index.js';
import { formatTable } from '../../../lib/format-table.js';
import { EXIT_CODES } from '../output.js';
import { CONNECTION_OPTIONS, getTexts, PAGE_OPTIONS, ServiceClient } from './client.js';

interface Webhook {
  id: string;
  name: string;
  url: string;
  events: string;
  project_slug: string | null;
  enabled: boolean;
}

interface TestDelivery {
  status_code: number | null;
  error: string | null;
}

const API_PATH = '/api/webhooks/v1/webhooks';

export const webhookListCommand: CommandSpec = {
  name: 'webhook list',
  summary: 'List the webhooks of a running service',
  options: { ...CONNECTION_OPTIONS, ...PAGE_OPTIONS },
  run: async (call) => {
    const query = getTexts(call, ['limit', 'cursor']);
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ items: Webhook[] }>('GET', API_PATH, { query });
    const rows = answer.items.map((one) => [
      one.id,
      one.enabled ? 'enabled' : 'disabled',
      one.project_slug ?? '-',
      one.events,
      one.url,
    ]);
    return { json: answer, text: formatTable(['ID', 'STATE', 'PROJECT', 'EVENTS', 'URL'], rows) };
  },
};

export const webhookTestCommand: CommandSpec = {
  name: 'webhook test',
  summary: 'Send a test delivery to a webhook',
  args: ['id'],
  options: CONNECTION_OPTIONS,
  run: async (call) => {
    const [id = ''] = call.args;
    const client = await ServiceClient.open(call);
    const path = `${API_PATH}/${encodeURIComponent(id)}/test`;
    const answer = await client.request<{ delivery: TestDelivery }>('POST', path, { body: {} });
    const { status_code: status, error } = answer.delivery;
    const delivered = status !== null && status >= 200 && status < 300;
    const why = error ?? `it answered ${status}`;
    return {
      json: answer,
      text: delivered ? `Test delivered: the endpoint answered ${status}.` : `Test not delivered: ${why}.`,
      exit: delivered ? EXIT_CODES.ok : EXIT_CODES.error,
    };
  },
};
