// Starts an agent for each `agent.requested` of AOS: a receiver of one webhook, with nothing but
// Node (20 or newer).
//
// AOS_WEBHOOK_SECRET=whsec_… AGENT_COMMAND='claude -p "…"' node start-agent.mjs
//
// The command gets SVC_TOKEN, AOS_MCP_URL, AOS_REF and AOS_AGENT in its environment, and never on
// its command line.
import { spawn } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { AOS_WEBHOOK_SECRET: secret = '', AGENT_COMMAND: command = '', HOST = '127.0.0.1', PORT = '8099' } = process.env;
if (secret === '' || command === '') throw new Error('AOS_WEBHOOK_SECRET and AGENT_COMMAND are needed');

const LARGEST = 20_000;
const TOLERANCE_SECONDS = 300;
const running = new Set();

function genuine(headers, body) {
  const timestamp = String(headers['x-svc-timestamp'] ?? '');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const made = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  const given = Buffer.from(String(headers['x-svc-signature'] ?? '').replace(/^sha256=/, ''), 'hex');
  return given.length === made.length && timingSafeEqual(given, made);
}

/** One agent for an item at a time: the webhook delivers at least once. */
function start({ ref, agent, token, mcp_url }) {
  if (running.has(ref)) return;
  running.add(ref);
  const env = { ...process.env, SVC_TOKEN: token, AOS_MCP_URL: mcp_url, AOS_REF: ref, AOS_AGENT: agent };
  delete env.AOS_WEBHOOK_SECRET;
  const child = spawn(command, { shell: true, env, stdio: ['ignore', 'inherit', 'inherit'] });
  child.on('error', (error) => console.error(`${ref}: ${error.message}`));
  child.on('close', (code) => {
    running.delete(ref);
    console.log(`${ref}: the agent exited with ${code}`);
  });
  console.log(`${ref}: the agent ${agent} is started`);
}

const server = createServer((request, response) => {
  const chunks = [];
  let size = 0;
  request.on('data', (chunk) => {
    size += chunk.length;
    if (size <= LARGEST) chunks.push(chunk);
  });
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (size > LARGEST || !genuine(request.headers, body)) return response.writeHead(401).end();
    // AOS waits 15 seconds for an answer; an agent takes longer.
    response.writeHead(202).end();
    const { event, data } = JSON.parse(body.toString('utf8'));
    if (event === 'agent.requested') start(data);
  });
});
server.listen(Number(PORT), HOST, () => console.log(`listening on http://${HOST}:${server.address().port}`));
