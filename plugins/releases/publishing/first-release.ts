import type { StepGiven } from '../../../ports/domain/dashboard.js';

/** The command that publishes the folder in which it runs (contract 40, publishing). Pure. */
export const firstReleaseCommand = ({ baseUrl, project, token }: StepGiven): string =>
  [
    `tar -czf - -C . . > /tmp/package.tar.gz && curl --fail-with-body \\`,
    `  -X POST "${baseUrl}/api/updateservice/v1/publish?product=${project}&version=1.0.0&platform=any" \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H 'Content-Type: application/gzip' \\`,
    `  --data-binary @/tmp/package.tar.gz`,
  ].join('\n');
