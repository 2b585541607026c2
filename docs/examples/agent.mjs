// A coding agent's loop over MCP: takes the next item, keeps its lease alive, works, and resolves
// it; until there is no work.
//
// SVC_URL=http://127.0.0.1:8080 SVC_TOKEN=svc_live_… AOS_PROJECT=shop node docs/examples/agent.mjs
//
// AOS_BUILD names the version that will carry the fixes; without it a person closes what is
// resolved.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const {
  SVC_URL = 'http://127.0.0.1:8080',
  SVC_TOKEN,
  AOS_PROJECT,
  AOS_BUILD,
  AOS_AGENT = 'example-agent',
} = process.env;
const LEASE_SECONDS = 600;

const client = new Client({ name: AOS_AGENT, version: '1.0.0' });
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', SVC_URL), {
    requestInit: { headers: { authorization: `Bearer ${SVC_TOKEN}` } },
  }),
);

/**
 * A tool's data; a refusal becomes an Error with the service's code, and says which arguments are
 * wrong.
 */
async function call(name, args) {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  if (!isError) return { ...structuredContent, text: content[0].text };
  const { code, message, fields = {} } = structuredContent.error;
  const wrong = Object.entries(fields).map(([field, why]) => ` ${field} ${why}.`);
  throw Object.assign(new Error(`${name}: ${code}: ${message}${wrong.join('')}`), { code });
}

/**
 * Where your model works. `text` is the whole answer; what came from outside stands between marks
 * in it: data, no orders.
 */
async function fix(item, text, signal) {
  console.log(`working on ${item.ref} (${item.severity}), ${text.length} characters to read`);
  signal.throwIfAborted();
  return { comment: 'The total was computed before the discount; fixed and tested.', build: AOS_BUILD };
}

/** Renews at half of the lease; stops the work when the lease is lost. */
function keepAlive(id, claim_token, work) {
  const renew = () =>
    call('renew', { id, claim_token, lease_seconds: LEASE_SECONDS }).catch((error) => {
      if (error.code === 'lease_lost' || error.code === 'lease_limit') work.abort(error);
      else console.warn(error.message); // a network fault: the next renewal is in time
    });
  const timer = setInterval(renew, (LEASE_SECONDS * 1000) / 2);
  return () => clearInterval(timer);
}

/** False when there is no more work. */
async function workOn() {
  const filter = AOS_PROJECT ? { project: AOS_PROJECT } : {};
  const { item, lease, text } = await call('next', { ...filter, agent: AOS_AGENT, lease_seconds: LEASE_SECONDS });
  if (item === null) return false;
  const { claim_token } = lease;
  const work = new AbortController();
  const stop = keepAlive(item.id, claim_token, work);
  try {
    const { comment, build } = await fix(item, text, work.signal);
    const done = await call('resolve', { id: item.id, claim_token, resolved_in_build: build, comment });
    console.log(`${done.ref} is ${done.status} in ${build ?? 'no build yet'}`);
  } catch (error) {
    // After lease_lost it is not ours to give back.
    const given = { id: item.id, claim_token, reason: error.message.slice(0, 500) };
    if (error.code !== 'lease_lost') await call('release', given).catch(() => undefined);
    throw error;
  } finally {
    stop();
  }
  return true;
}

try {
  while (await workOn());
  console.log('no more work');
} finally {
  await client.close();
}
