/** From a terminal, and from CI (contract 40). */

export interface PublishMethod {
  label: string;
  text: string;
}

/** @param baseUrl without a trailing slash */
export function listPublishMethods(baseUrl: string, product: string): PublishMethod[] {
  const address = `${baseUrl}/api/updateservice/v1/publish?product=${product}`;
  const curl = (version: string, file: string, token: string): string[] => [
    `curl --fail-with-body -X POST "${address}&version=${version}&channel=stable" \\`,
    `  -H "Authorization: Bearer ${token}" -H 'Content-Type: application/gzip' \\`,
    `  --data-binary @${file}`,
  ];
  return [
    {
      label: 'packager',
      text: [
        `export SVC_URL=${baseUrl}`,
        'export SVC_TOKEN=…',
        `packager --project ${product} --version 1.0.0 --publish-dir dist`,
      ].join('\n'),
    },
    {
      label: 'curl',
      text: ['tar -czf package.tar.gz -C dist .', ...curl('1.0.0', 'package.tar.gz', '$SVC_TOKEN')].join('\n'),
    },
    {
      label: 'GitHub Actions step',
      text: [
        '- name: Publish',
        '  env:',
        '    SVC_TOKEN: ${{ secrets.SVC_TOKEN }}',
        '  run: |',
        '    tar -czf package.tar.gz -C dist .',
        ...curl('${GITHUB_REF_NAME#v}', 'package.tar.gz', '$SVC_TOKEN').map((line) => `    ${line}`),
      ].join('\n'),
    },
    {
      label: 'GitLab job (SVC_TOKEN masked)',
      text: [
        'publish:',
        '  rules: [{if: $CI_COMMIT_TAG}]',
        '  script:',
        '    - tar -czf package.tar.gz -C dist .',
        '    - |',
        ...curl('${CI_COMMIT_TAG#v}', 'package.tar.gz', '$SVC_TOKEN').map((line) => `      ${line}`),
      ].join('\n'),
    },
  ];
}
