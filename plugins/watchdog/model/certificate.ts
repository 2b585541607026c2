/** When an expiring certificate is reported: below the limit of its probe, then below each of fewer days. Pure. */
const LIMITS_DAYS = [7, 3, 1];

/** @returns how many limits it is below; 0: none @param warnDays 0: it is never reported */
export const getCertificateLevel = (daysLeft: number, warnDays: number): number =>
  [warnDays, ...LIMITS_DAYS.filter((days) => days < warnDays)].filter((days) => daysLeft < days && warnDays > 0).length;

/** A sentence without its full stop. @param daysLeft whole days; negative: it has expired */
export function formatCertificateReason(daysLeft: number): string {
  if (daysLeft < 0) return 'The certificate has expired';
  if (daysLeft === 0) return 'The certificate expires within a day';
  return `The certificate expires in ${daysLeft} day${daysLeft === 1 ? '' : 's'}`;
}
