import type { CommandSpec } from '../../../kernel/contract/index.js';
import { formatTable } from '../../../lib/format-table.js';
import { CONNECTION_OPTIONS, getTexts, PAGE_OPTIONS, ServiceClient } from './client.js';

interface Bug {
  ref: string;
  title: string;
  status: string;
  severity: string;
  hit_count: number;
  last_seen_at: string | null;
  description?: string | null;
  error_message?: string | null;
  stack_trace?: string | null;
}

const toPath = (ref: string | undefined): string => `/api/bugtracker/v1/bugs/${encodeURIComponent(ref ?? '')}`;

export const bugListCommand: CommandSpec = {
  name: 'bug list',
  summary: 'List items of the bug tracker of a running service',
  options: {
    ...CONNECTION_OPTIONS,
    project: { type: 'string', value: 'slug', summary: 'Only of this project' },
    status: {
      type: 'string',
      value: 'status',
      summary: 'Only with this status (default: open items)',
      default: 'open',
    },
    severity: { type: 'string', value: 'severity', summary: 'Only of this severity' },
    query: { type: 'string', value: 'words', field: 'q', summary: 'Only items that contain these words' },
    ...PAGE_OPTIONS,
  },
  run: async (call) => {
    const {
      query: q,
      status,
      ...others
    } = getTexts(call, ['project', 'status', 'severity', 'query', 'limit', 'cursor']);
    const query = { ...others, q, status: status === 'all' ? undefined : status };
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ items: Bug[] }>('GET', '/api/bugtracker/v1/bugs', { query });
    const rows = answer.items.map((bug) => [bug.ref, bug.status, bug.severity, String(bug.hit_count), bug.title]);
    return { json: answer, text: formatTable(['REF', 'STATUS', 'SEVERITY', 'HITS', 'TITLE'], rows) };
  },
};

export const bugShowCommand: CommandSpec = {
  name: 'bug show',
  summary: 'Show an item with its newest occurrences and comments',
  args: ['ref'],
  options: CONNECTION_OPTIONS,
  run: async (call) => {
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ item: Bug; comments: { body: string }[] }>('GET', toPath(call.args[0]));
    const { item, comments } = answer;
    const parts = [item.description, item.error_message, item.stack_trace].filter((part) => part);
    return {
      json: answer,
      text: [
        `${item.ref}  ${item.title}`,
        `${item.status}, ${item.severity}, seen ${item.hit_count} times, last ${item.last_seen_at ?? 'never'}`,
        ...parts.map((part) => `\n${part}`),
        ...(comments.length === 0 ? [] : ['\nComments:', ...comments.map(({ body }) => `- ${body}`)]),
      ].join('\n'),
    };
  },
};

export const bugCloseCommand: CommandSpec = {
  name: 'bug close',
  summary: 'Close an item',
  args: ['ref'],
  options: {
    ...CONNECTION_OPTIONS,
    comment: { type: 'string', value: 'text', summary: 'Add this comment' },
    status: {
      type: 'string',
      value: 'closed|resolved|wont_fix',
      summary: 'New status',
      default: 'closed',
    },
    reason: { type: 'string', value: 'text', summary: 'Reason; required for wont_fix' },
    'resolved-in': {
      type: 'string',
      value: 'version',
      field: 'resolved_in_build',
      summary: 'Version that contains the fix',
    },
  },
  run: async (call) => {
    const { 'resolved-in': resolved_in_build, ...others } = getTexts(call, [
      'status',
      'reason',
      'comment',
      'resolved-in',
    ]);
    const body = { ...others, resolved_in_build };
    const client = await ServiceClient.open(call);
    const answer = await client.request<{ item: Bug }>('PATCH', toPath(call.args[0]), { body });
    return { json: answer, text: `${answer.item.ref} is ${answer.item.status}.` };
  },
};
