import type { StepContext } from '../../../ports/domain/dashboard.js';

/**
 * Creates a new folder, so that no one publishes the folder where it is pasted (contract 40,
 * publishing).
 */
export const buildFirstReleaseCommand = ({ baseUrl, project, token }: StepContext): string =>
  [
    `mkdir -p hello && echo '${project} 1.0.0' > hello/README.txt && \\`,
    `tar -czf - -C hello . > /tmp/package.tar.gz && curl --fail-with-body \\`,
    `  -X POST "${baseUrl}/api/updateservice/v1/publish?product=${project}&version=1.0.0&platform=any" \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H 'Content-Type: application/gzip' \\`,
    `  --data-binary @/tmp/package.tar.gz`,
  ].join('\n');
