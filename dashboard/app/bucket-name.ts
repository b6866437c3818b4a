// Names of the steps of a time series. The server's hours and days begin in UTC.

export function bucketName(ts: string, bucket: 'hour' | 'day'): string {
  return bucket === 'day' ? ts.slice(0, 10) : `${ts.slice(5, 10)} ${ts.slice(11, 16)} UTC`
}
