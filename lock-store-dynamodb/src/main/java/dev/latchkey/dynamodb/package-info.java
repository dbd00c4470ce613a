/** Locks kept as items of a DynamoDB table: {@link dev.latchkey.dynamodb.DynamoDbStore}. */
@NullMarked
package dev.latchkey.dynamodb;

import org.jspecify.annotations.NullMarked;
