import { readRemoteEnv } from '../../../config/remote-env.js';
import type { CommandSpec } from '../../../kernel/contract/index.js';
import { UsageError } from '../usage.js';
import { CONNECTION_OPTIONS, parseServiceUrl, ServiceClient } from './client.js';
import { saveProfile } from './profile.js';

interface OwnToken {
  name: string;
  scopes: string[];
}

export const loginCommand: CommandSpec = {
  name: 'login',
  summary: 'Store the address and token of a running service for remote commands',
  options: {
    ...CONNECTION_OPTIONS,
    'token-stdin': { type: 'boolean', summary: 'Read the token from standard input (default: SVC_TOKEN)' },
  },
  run: async (call) => {
    const { options } = call;
    const env = readRemoteEnv();
    const given = options['url'] ?? env.url;
    if (typeof given !== 'string')
      throw new UsageError('--url is missing', 'Usage: aos login --url <address> --token-stdin');
    const url = parseServiceUrl(given, options['allow-http'] === true);
    const token = options['token-stdin'] === true ? (await call.stdin()).trim() : (env.token ?? '');
    if (token === '') throw new UsageError('no token; pass --token-stdin, or set SVC_TOKEN', null);
    const { name, scopes } = await ServiceClient.withToken(url, token).request<OwnToken>('GET', '/api/tokens/v1/self');
    const path = await saveProfile({ url: url.origin, token }, env);
    return {
      json: { url: url.origin, profile: path, name, scopes },
      text: `Wrote ${path}: ${url.origin}, token ${name} with ${scopes.join(', ') || 'no scope'}.`,
    };
  },
};
