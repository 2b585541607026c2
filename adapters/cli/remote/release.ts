import type { CommandSpec } from '../../../kernel/contract/index.js';
import { formatTable } from '../../../lib/format-table.js';
import { CONNECTION_OPTIONS, getTexts, PAGE_OPTIONS, ServiceClient } from './client.js';

interface Release {
  product: string;
  version: string;
  channel: string;
  platform: string;
  published_at: string;
  rollout_percent: number;
  withdrawn_at: string | null;
  halted_at: string | null;
  rolled_back: boolean;
}

const API_PATH = '/api/updateservice/v1';
const PRODUCT_OPTION = { type: 'string', value: 'slug', summary: 'Product (project)', required: true } as const;
const PLATFORM_OPTION = { type: 'string', value: 'platform', summary: 'Only this platform (default: all)' } as const;

function formatState({ withdrawn_at, halted_at, rollout_percent, rolled_back }: Release): string {
  if (rolled_back) return 'rolled back';
  if (withdrawn_at !== null) return 'withdrawn';
  if (halted_at !== null) return `halted at ${rollout_percent} %`;
  return rollout_percent < 100 ? `${rollout_percent} %` : 'offered';
}

export const releaseListCommand: CommandSpec = {
  name: 'release list',
  summary: 'List the releases of a running service',
  options: {
    ...CONNECTION_OPTIONS,
    product: { type: 'string', value: 'slug', summary: 'Only of this product' },
    channel: { type: 'string', value: 'channel', summary: 'Only of this channel' },
    platform: { type: 'string', value: 'platform', summary: 'Only of this platform' },
    ...PAGE_OPTIONS,
  },
  run: async (call) => {
    const query = getTexts(call, ['product', 'channel', 'platform', 'limit', 'cursor']);
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ items: Release[] }>('GET', `${API_PATH}/releases`, { query });
    const rows = answer.items.map((one) => [
      one.product,
      one.version,
      one.channel,
      one.platform,
      formatState(one),
      one.published_at,
    ]);
    return {
      json: answer,
      text: formatTable(['PRODUCT', 'VERSION', 'CHANNEL', 'PLATFORM', 'STATE', 'PUBLISHED'], rows),
    };
  },
};

export const releasePromoteCommand: CommandSpec = {
  name: 'release promote',
  summary: 'Promote a release from one channel to another',
  args: ['version'],
  options: {
    ...CONNECTION_OPTIONS,
    product: PRODUCT_OPTION,
    from: { type: 'string', value: 'channel', summary: 'Source channel', required: true },
    to: { type: 'string', value: 'channel', summary: 'Target channel', required: true },
    platform: PLATFORM_OPTION,
    rollout: {
      type: 'string',
      value: 'percent',
      field: 'rollout_percent',
      summary: 'Percentage of machines that are offered the release',
    },
  },
  run: async (call) => {
    const [version = ''] = call.args;
    const { rollout, ...others } = getTexts(call, ['product', 'from', 'to', 'platform', 'rollout']);
    const body = { ...others, version, ...(rollout !== undefined && { rollout_percent: Number(rollout) }) };
    const client = await ServiceClient.open(call);
    const answer = await client.request<object>('POST', `${API_PATH}/promote`, { body });
    return {
      json: answer,
      text: `${others['product']} ${version} was promoted from ${others['from']} to ${others['to']}.`,
    };
  },
};

export const releaseRollbackCommand: CommandSpec = {
  name: 'release rollback',
  summary: 'Roll a channel back to an earlier version and withdraw later ones',
  args: ['to'],
  options: {
    ...CONNECTION_OPTIONS,
    product: PRODUCT_OPTION,
    channel: { type: 'string', value: 'channel', summary: 'Channel to roll back', required: true },
    platform: PLATFORM_OPTION,
    reason: { type: 'string', value: 'text', summary: 'Reason, shown with the withdrawn releases', required: true },
  },
  run: async (call) => {
    const [to = ''] = call.args;
    const texts = getTexts(call, ['product', 'channel', 'platform', 'reason']);
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ withdrawn: Release[]; unchanged: boolean }>('POST', `${API_PATH}/rollback`, {
      body: { ...texts, to },
    });
    const versions = [...new Set(answer.withdrawn.map(({ version }) => version))].join(', ');
    const text = answer.unchanged
      ? `${texts['product']} ${to} is already the newest release of ${texts['channel']}.`
      : `${texts['product']} ${to} is the newest release of ${texts['channel']} again; withdrawn: ${versions}.`;
    return { json: answer, text };
  },
};

export const releaseWithdrawCommand: CommandSpec = {
  name: 'release withdraw',
  summary: 'Withdraw a version, so that it is no longer offered',
  args: ['version'],
  options: {
    ...CONNECTION_OPTIONS,
    product: PRODUCT_OPTION,
    channel: { type: 'string', value: 'channel', summary: 'Channel of the release', required: true },
    platform: PLATFORM_OPTION,
    reason: { type: 'string', value: 'text', summary: 'Reason, shown with the release', required: true },
  },
  run: async (call) => {
    const [version = ''] = call.args;
    const texts = getTexts(call, ['product', 'channel', 'platform', 'reason']);
    const body = { version, ...texts };
    const client = await ServiceClient.open(call);
    const answer = await client.request<object>('POST', `${API_PATH}/withdraw`, { body });
    return { json: answer, text: `${texts['product']} ${version} was withdrawn from ${texts['channel']}.` };
  },
};
