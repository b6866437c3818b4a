// Names of the steps of a time series. The server's minutes, hours and days begin in UTC.

export function bucketName(ts: string, bucket: 'minute' | 'hour' | 'day'): string {
  if (bucket === 'minute') return `${ts.slice(11, 16)} UTC`
  return bucket === 'day' ? ts.slice(0, 10) : `${ts.slice(5, 10)} ${ts.slice(11, 16)} UTC`
}
