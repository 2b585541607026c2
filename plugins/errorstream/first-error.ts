/** @param given project, and the token or its variable */
export function buildFirstErrorCommand(
  baseUrl: string,
  { project, token }: { project: string; token: string } = { project: 'shop', token: '$SVC_TOKEN' },
): string {
  const error = {
    project,
    error_level: 'error',
    exception_class: 'TypeError',
    error_message: 'price is undefined',
    file: 'src/basket.ts',
    line: 41,
  };
  return [
    `curl ${baseUrl.replace(/\/$/, '')}/api/errors/v1/report \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(error)}'`,
  ].join('\n');
}
