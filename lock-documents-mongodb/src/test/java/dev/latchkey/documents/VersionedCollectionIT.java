package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.pojo.PojoCodecProvider;
import org.bson.types.Decimal128;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every write against the expected version. */
class VersionedCollectionIT {

    private final MongoCollection<Document> stored = TestDatabase.newCollection();
    private final VersionedCollection<Document> posts = VersionedCollection.of(stored);

    private Document load(Object id) {
        return Objects.requireNonNull(stored.find(Filters.eq(id)).first());
    }

    @ParameterizedTest
    @EnumSource
    void givenAnyType_whenInsertedAndChanged_thenEachWriteMakesAnother(Version.Type type) {
        VersionedCollection<Document> of =
                VersionedCollection.builder(stored).version("rev", type).build();

        Document first = of.insert(new Document("_id", 1).append("title", "Foo"));
        Document second = of.replace(new Document(first).append("title", "Bar"));
        Document third = of.update(1, of.version(second).orElseThrow(), Updates.set("title", "Baz"));

        assertThat(of.find(1)).contains(third);
        assertThat(List.of(of.version(first), of.version(second), of.version(third)))
                .doesNotHaveDuplicates();
        assertThatThrownBy(() -> of.replace(second)).isInstanceOf(OptimisticLockException.class);
        assertThatThrownBy(() -> of.find(1, of.version(first).orElseThrow()))
                .isInstanceOf(OptimisticLockException.class);
        assertThatThrownBy(() -> of.delete(second)).isInstanceOf(OptimisticLockException.class);
        assertThat(of.find(1, of.version(third).orElseThrow())).contains(third);
        assertThat(of.delete(third)).isTrue();
    }

    @Test
    void givenEachType_whenInserted_thenStoredAsThatTypeAndBeginsWithOne() {
        assertThat(first(Version.Type.INT)).isEqualTo(1);
        assertThat(first(Version.Type.LONG)).isEqualTo(1L);
        assertThat(first(Version.Type.DECIMAL128)).isEqualTo(new Decimal128(1));
        assertThat((Date) first(Version.Type.DATE)).isBeforeOrEqualTo(Instant.now());
    }

    private Object first(Version.Type type) {
        MongoCollection<Document> collection = TestDatabase.newCollection();
        VersionedCollection.builder(collection).version("v", type).build().insert(new Document("_id", 1));
        return Objects.requireNonNull(
                Objects.requireNonNull(collection.find().first()).get("v"));
    }

    @Test
    void givenInitialVersion_whenInserted_thenItIsKept() {
        assertThat(posts.insert(new Document("_id", 1).append("version", 7)).get("version"))
                .isEqualTo(7);
        assertThat(posts.insert(new Document("_id", 2).append("version", null)).get("version"))
                .isEqualTo(1);
    }

    @Test
    void givenNoId_whenInserted_thenTheReturnedDocumentHasOne() {
        Document inserted = posts.insert(new Document("title", "Foo"));

        assertThat(posts.find(inserted.getObjectId("_id"))).contains(inserted);
    }

    @Test
    void givenAliceAndBob_whenAliceSavesLast_thenRefusedWithBothVersionsAndNothingLost() {
        posts.insert(new Document("_id", 1).append("headline", "Foo"));
        Document alices = posts.find(1).orElseThrow();
        Document bobs = posts.find(1).orElseThrow();
        posts.replace(bobs.append("headline", "Bar"));

        OptimisticLockException refused = catchThrowableOfType(
                OptimisticLockException.class, () -> posts.replace(alices.append("headline", "Baz")));

        assertThat(refused.expected()).contains(Version.of(1));
        assertThat(refused.actual()).contains(Version.of(2));
        assertThat(refused).hasMessageContaining("int:1").hasMessageContaining("int:2");
        assertThat(refused.document()).endsWith("/1");
        assertThat(load(1)).containsEntry("headline", "Bar").containsEntry("version", 2);
        assertThat(alices).as("left alone by the failure").containsEntry("version", 1);
    }

    @Test
    void givenVersionThatTravelledWithAForm_whenTheFormComesBackLate_thenLoadingIsRefused() {
        Document shown = posts.insert(new Document("_id", 1).append("headline", "Foo"));
        String hiddenField = posts.version(shown).orElseThrow().toString();
        posts.update(1, Version.of(1), Updates.set("headline", "Bar"));

        assertThatThrownBy(() -> posts.find(1, Version.parse(hiddenField)))
                .isInstanceOf(OptimisticLockException.class)
                .hasMessageContaining("load it again");
        assertThat(posts.find(99, Version.parse(hiddenField)))
                .as("of a missing document")
                .isEmpty();
    }

    @Test
    void givenDocumentIsGone_whenWritten_thenRefusedWithoutActualVersion() {
        Document loaded = posts.insert(new Document("_id", 1));
        stored.deleteOne(Filters.eq(1));

        OptimisticLockException refused =
                catchThrowableOfType(OptimisticLockException.class, () -> posts.replace(loaded));

        assertThat(refused.actual()).isEmpty();
        assertThat(refused).hasMessageContaining("gone");
        assertThatThrownBy(() -> posts.update(1, Version.of(1), Updates.set("a", 1)))
                .isInstanceOf(OptimisticLockException.class);
        assertThat(posts.delete(loaded)).isFalse();
        assertThat(stored.countDocuments()).as("never made again").isZero();
    }

    @Test
    void givenEmbeddedDocuments_whenChangedAnywhere_thenTheRootHasANewVersion() {
        posts.insert(new Document("_id", 1).append("comments", List.of(new Document("text", "first"))));

        posts.update(1, Version.of(1), Updates.push("comments", new Document("text", "second")));
        posts.update(1, Version.of(2), Updates.set("comments.0.text", "changed"));
        posts.update(1, Version.of(3), Updates.unset("comments"));

        assertThat(load(1)).containsEntry("version", 4).doesNotContainKey("comments");
        assertThatThrownBy(() -> posts.update(1, Version.of(2), Updates.push("comments", "late")))
                .isInstanceOf(OptimisticLockException.class);
    }

    @Test
    void givenStaleVersion_whenDeleted_thenRefusedAndStillThere() {
        Document old = posts.insert(new Document("_id", 1));
        posts.update(1, Version.of(1), Updates.set("headline", "Bar"));

        assertThatThrownBy(() -> posts.delete(old)).isInstanceOf(OptimisticLockException.class);
        assertThat(load(1)).containsEntry("headline", "Bar");
    }

    @Test
    void givenDocumentFromBeforeItWasVersioned_whenChanged_thenItGetsTheFirstVersion() {
        stored.insertOne(new Document("_id", 1).append("headline", "Foo"));
        Document loaded = posts.find(1).orElseThrow();

        posts.replace(loaded.append("headline", "Bar"));

        assertThat(load(1)).containsEntry("version", 1).containsEntry("headline", "Bar");
        assertThatThrownBy(() -> posts.replace(loaded)).isInstanceOf(OptimisticLockException.class);
    }

    @Test
    void givenVersionStoredAsAnotherType_whenWritten_thenItSaysWhichDocumentAndTypes() {
        stored.insertOne(new Document("_id", 1).append("version", "one"));

        assertThatThrownBy(() -> posts.replace(posts.find(1).orElseThrow()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("/1")
                .hasMessageContaining("STRING")
                .hasMessageContaining("INT32");
    }

    @Test
    void givenExpectedVersionOfAnotherType_whenAsked_thenArgumentIsRefused() {
        assertThatThrownBy(() -> posts.find(1, Version.of(1L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("long:1")
                .hasMessageContaining("INT");
    }

    @Test
    void givenUpdateOfWhatIsOurs_whenUpdated_thenArgumentIsRefusedAndNothingWritten() {
        posts.insert(new Document("_id", 1));

        for (var update : List.of(
                Updates.set("version", 9),
                Updates.inc("version", 1),
                Updates.unset("_lock"),
                Updates.rename("a", "version"),
                new Document("no", "operator"))) {
            assertThatThrownBy(() -> posts.update(1, Version.of(1), update))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(load(1)).containsEntry("version", 1);
    }

    @Test
    void givenVersionFieldThatIsNotOfTheRoot_whenBuilt_thenRefused() {
        for (String field : List.of("", "meta.version", "$version")) {
            assertThatThrownBy(() -> VersionedCollection.builder(stored)
                            .version(field, Version.Type.INT)
                            .build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("document itself");
        }
    }

    @Test
    void givenIdThatExists_whenInserted_thenTheDriversErrorComesThrough() {
        posts.insert(new Document("_id", 1));

        assertThatThrownBy(() -> posts.insert(new Document("_id", 1))).isInstanceOf(MongoWriteException.class);
    }

    /** A class without annotations, as the driver maps it. */
    public static final class Post {

        private int id;
        private String headline = "";
        private int version;

        public int getId() {
            return id;
        }

        public void setId(int id) {
            this.id = id;
        }

        public String getHeadline() {
            return headline;
        }

        public void setHeadline(String headline) {
            this.headline = headline;
        }

        public int getVersion() {
            return version;
        }

        public void setVersion(int version) {
            this.version = version;
        }
    }

    private VersionedCollection<Post> pojos() {
        var registry = CodecRegistries.fromRegistries(
                stored.getCodecRegistry(),
                CodecRegistries.fromProviders(
                        PojoCodecProvider.builder().automatic(true).build()));
        return VersionedCollection.of(stored.withCodecRegistry(registry).withDocumentClass(Post.class));
    }

    @Test
    void givenPojo_whenSavedTwice_thenVersionRisesInWhatIsReturnedOnly() {
        Post post = new Post();
        post.setId(1);
        post.setHeadline("Foo");

        Post inserted = pojos().insert(post);
        Post second = pojos().replace(inserted);

        assertThat(post.getVersion()).isZero();
        assertThat(inserted.getVersion()).isEqualTo(1);
        assertThat(second.getVersion()).isEqualTo(2);
        assertThat(pojos().version(second)).isEqualTo(Optional.of(Version.of(2)));
        assertThatThrownBy(() -> pojos().replace(inserted)).isInstanceOf(OptimisticLockException.class);
    }

    @Test
    void givenFieldsThePojoHasNoPlaceFor_whenChanged_thenTheyStay() throws InterruptedException {
        stored.insertOne(new Document("_id", 1)
                .append("headline", "Foo")
                .append("version", 4)
                .append("others", "keep"));

        ChangeResult<Post> outcome = pojos().update(1, post -> {
            post.setHeadline("Bar");
            return post;
        });

        assertThat(outcome.orElseThrow().getVersion()).isEqualTo(5);
        assertThat(load(1)).containsEntry("headline", "Bar").containsEntry("others", "keep");
    }
}
