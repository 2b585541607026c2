import type { StepContext } from '../../../ports/domain/dashboard.js';

export const buildFirstHeartbeatCommand = ({ baseUrl, token }: StepContext): string =>
  [
    `curl ${baseUrl}/api/watchdog/v1/ping \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify({ source: 'web-1', interval: 300 })}'`,
  ].join('\n');
