/** Locks kept as keys of an etcd cluster: {@link dev.latchkey.etcd.EtcdStore}. */
@NullMarked
package dev.latchkey.etcd;

import org.jspecify.annotations.NullMarked;
