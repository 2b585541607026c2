import { OutboundError } from '../../../kernel/contract/index.js';
import type { EgressPolicy, Outbound, OutboundMethod } from '../../../ports/outbound.js';
import type { CustomFetch } from 'openid-client';

/** Discovery documents and key sets have some kilobytes. */
const MAX_RESPONSE_BYTES = 256 * 1024;
export const PROVIDER_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * An administrator names the provider, often one of the own network; metadata addresses never pass.
 */
const EGRESS_POLICY: EgressPolicy = { mode: 'private-ok', allow: [] };

const EMPTY_STATUSES = new Set([204, 205, 304]);

/** Sends the library's requests through the service's outbound port. */
export const createProviderFetch =
  (outbound: Outbound): CustomFetch =>
  async (url, { method, headers, body }) => {
    const response = await outbound.request({
      method: method as OutboundMethod,
      url,
      headers,
      ...(body !== null && body !== undefined && { body: String(body as string | URLSearchParams) }),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      timeoutMs: PROVIDER_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      policy: EGRESS_POLICY,
    });
    if (response.truncated)
      throw new OutboundError('protocol', `the answer is longer than ${MAX_RESPONSE_BYTES / 1024} KiB`);
    return new Response(EMPTY_STATUSES.has(response.status) ? null : new Uint8Array(response.body), {
      status: response.status,
      headers: response.headers,
    });
  };
