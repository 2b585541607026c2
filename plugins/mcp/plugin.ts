/** MCP endpoint for coding agents (contract 95). Its tools are routes that declare `tool`. */
import joi from 'joi';
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { ONBOARDING_STEPS } from '../../ports/domain/dashboard.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { FirstCallRecorder } from './first-call-recorder.js';
import { countMessages } from './json-rpc-message.js';
import { McpProtocol } from './mcp-protocol.js';
import { ToolRegistry } from './tool-registry.js';

interface McpConfig {
  allowed_origins: string[];
}

export default definePlugin<McpConfig>({
  id: 'mcp',
  version: '1.0.0',
  api: 1,
  title: 'MCP endpoint for coding agents',
  needs: [SYSTEM.name],
  extends: [ONBOARDING_STEPS.point],
  collections: [{ name: 'marks', indexes: [] }],
  config: joi.object({
    allowed_origins: joi
      .array()
      .items(joi.string().uri({ scheme: ['http', 'https'] }))
      .default([])
      .description(
        'Origins of web pages that can call /mcp, in addition to the origin of the service; programs do not send an Origin',
      ),
  }),
  setup(ctx) {
    const system = ctx.resolve(SYSTEM);
    let protocol: Promise<McpProtocol> | null = null;
    let toolbox: ToolRegistry | null = null;
    const load = async (): Promise<McpProtocol> =>
      new McpProtocol({
        sdk: await (await import('./mcp-library.js')).loadMcpLibrary(),
        tools: () => (toolbox ??= new ToolRegistry(system.getTools())),
        version: ctx.app.version,
        log: ctx.log,
      });
    /** A failed load is retried by the next message. */
    const loaded = (): Promise<McpProtocol> =>
      (protocol ??= load().catch((error: unknown) => {
        protocol = null;
        throw error;
      }));
    const firstCall = new FirstCallRecorder(ctx.collection('marks'), ctx.clock, ctx.log);
    const endpoint = new McpEndpoint({
      protocol: loaded,
      baseUrl: () => ctx.app.base_url,
      allowedOrigins: ctx.config.allowed_origins,
      onMessage: () => firstCall.record(),
    });
    return {
      extensions: [
        extend(ONBOARDING_STEPS, {
          id: 'agent',
          order: 30,
          title: 'Connect a coding agent',
          text: 'Your agent picks up issues, fixes them and reports back. Using another client? Use this MCP URL.',
          page: null,
          isDone: () => firstCall.hasHappened(),
          command: ({ baseUrl, token }) =>
            `${token === '$SVC_TOKEN' ? '' : `export SVC_TOKEN=${token}\n`}claude mcp add --transport http aos ${baseUrl}/mcp --header 'Authorization: Bearer \${SVC_TOKEN}'`,
          // The instructions ask the agent to report problems that it finds.
          token: { name: 'coding agent', scopes: ['bugtracker:read', 'bugtracker:manage', 'bugtracker:report'] },
        }),
      ],
      routes: [
        {
          method: 'POST',
          path: '/mcp',
          aliases: ['/mcp/'],
          strictQuery: false,
          summary: 'Tools for coding agents (Model Context Protocol, streamable HTTP)',
          access: { anyToken: true },
          // JSON-RPC has its own schemas and is no operation of the REST API.
          hidden: true,
          limits: { payload: 'raw', cost: (body) => countMessages(body as Uint8Array) },
          handle: endpoint.handle,
        },
      ],
      stop: async () => (await protocol)?.close(),
    };
  },
});
